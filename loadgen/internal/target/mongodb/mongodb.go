// Package mongodb speaks to a MongoDB server, with YCSB's documents: the key in _id, each field as binary data.
package mongodb

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/version"

	"benchbrief/loadgen/internal/target"
	"benchbrief/loadgen/internal/workload"
)

// Library is the driver that is built in.
func Library() (string, error) { return "mongo-go-driver " + version.Driver, nil }

// Flags adds the target's flags.
func Flags(flags *flag.FlagSet) func(target.Options, workload.Records) (target.Target, error) {
	uri := flags.String("uri", "", "connection string; OPENLOAD_URI in the environment is used without it")
	database := flags.String("database", "ycsb", "")
	collection := flags.String("collection", "usertable", "")
	return func(o target.Options, records workload.Records) (target.Target, error) {
		address := *uri
		if address == "" {
			address = os.Getenv("OPENLOAD_URI")
		}
		if address == "" {
			return nil, errors.New("--uri is missing: MongoDB's connection string")
		}
		return open(address, *database, *collection, o, records)
	}
}

type server struct {
	client     *mongo.Client
	collection *mongo.Collection
	fields     []string
	stale      bool
}

// looked is how many of the first records may be missing before a collection counts as empty.
const looked = 100

func open(uri, database, collection string, o target.Options, records workload.Records) (target.Target, error) {
	settings := options.Client().ApplyURI(uri).SetAppName("openload").
		SetMaxPoolSize(uint64(o.Workers)).SetTimeout(o.Timeout).SetServerSelectionTimeout(o.Timeout).
		SetMaxConnecting(16).
		SetRetryReads(false).SetRetryWrites(false) // a retry would hide a failure, and count its time twice
	ready := &atomic.Int64{}
	settings.SetPoolMonitor(&event.PoolMonitor{Event: func(e *event.PoolEvent) {
		if e.Type == event.ConnectionReady {
			ready.Add(1)
		}
	}})
	client, err := mongo.Connect(settings)
	if err != nil {
		return nil, err
	}
	s := &server{client: client, collection: client.Database(database).Collection(collection)}
	// Secondaries may be behind, and a write that nobody acknowledges may be under way.
	if from, to := settings.ReadPreference, settings.WriteConcern; from != nil && from.Mode() != readpref.PrimaryMode || !to.Acknowledged() {
		s.stale = true
	}
	for i := 0; i < o.Fields; i++ {
		s.fields = append(s.fields, "field"+strconv.Itoa(i))
	}
	if err := client.Ping(context.Background(), nil); err != nil {
		s.Close()
		return nil, fmt.Errorf("the server does not answer: %w", err)
	}
	s.connect(ready, o.Workers)
	if o.Load {
		return s, nil
	}
	if err := s.hasRecords(records); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// connect makes the driver open connections before the clock starts, where the first operations would wait for theirs. Each round of
// commands at the same time makes those that the last one lacked; the driver can't be told a number.
func (s *server) connect(ready *atomic.Int64, workers int) {
	for fruitless := 0; fruitless < 3 && ready.Load() < int64(workers); {
		before := ready.Load()
		var round sync.WaitGroup
		for i := 0; i < workers; i++ {
			round.Add(1)
			go func() {
				defer round.Done()
				_ = s.client.Ping(context.Background(), nil)
			}()
		}
		round.Wait()
		if ready.Load() == before {
			fruitless++
		}
	}
}

// hasRecords looks for any of the first records, by their keys.
func (s *server) hasRecords(records workload.Records) error {
	keys := bson.A{}
	for number := records.Start; number < records.Start+records.Count && len(keys) < looked; number++ {
		keys = append(keys, string(workload.AppendKey(nil, number, records.Hashed, records.Padding)))
	}
	err := s.collection.FindOne(context.Background(), bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: keys}}}}).Err()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return fmt.Errorf("collection %s.%s has none of the first records, such as %s: load them first, with the same --insert-order and --zero-padding",
			s.collection.Database().Name(), s.collection.Name(), keys[0])
	}
	return err
}

func (s *server) Name() string    { return "mongodb" }
func (s *server) Library() string { library, _ := Library(); return library }
func (s *server) InProcess() bool { return false }

// Stale implements target.Stale.
func (s *server) Stale() bool { return s.stale }

func (s *server) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = s.client.Disconnect(ctx)
}

func (s *server) Session(int) (target.Session, error) {
	return &session{server: s}, nil
}
