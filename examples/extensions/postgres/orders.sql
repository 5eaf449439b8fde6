-- One order: read an account's balance, take the price off it, and keep the order in the history.
\set account random_zipfian(1, 100000 * :scale, 1.1)
\set price random(1, 500)
\set delta -:price
BEGIN;
SELECT abalance FROM pgbench_accounts WHERE aid = :account;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :account;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (1, 1, :account, :delta, CURRENT_TIMESTAMP);
END;
