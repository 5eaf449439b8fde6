"""After a syntax error: what was meant, and where reading goes on."""
