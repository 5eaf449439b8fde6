package mongodb

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"benchbrief/loadgen/internal/target"
	"benchbrief/loadgen/internal/workload"
)

// session serves one worker. Its documents are built in buffers that it uses again.
type session struct {
	server   *server
	filter   []byte
	document []byte
}

func (s *session) Do(op *workload.Operation) target.Outcome {
	ctx := context.Background()
	switch op.Kind {
	case workload.Read:
		return s.read(ctx, op)
	case workload.Update:
		return s.update(ctx, op)
	case workload.Insert:
		_, err := s.server.collection.InsertOne(ctx, s.record(op))
		return target.Outcome{Err: err}
	case workload.Scan:
		return s.scan(ctx, op)
	case workload.ReadModifyWrite:
		field := op.Field
		op.Field = -1
		read := s.read(ctx, op)
		op.Field = field
		if read.Err != nil || read.NotFound {
			return read
		}
		return s.update(ctx, op)
	}
	return target.Outcome{Err: fmt.Errorf("no such operation: %d", op.Kind)}
}

func (s *session) byKey(key []byte) bson.Raw {
	at, to := bsoncore.AppendDocumentStart(s.filter[:0])
	to = bsoncore.AppendStringElement(to, "_id", string(key))
	s.filter, _ = bsoncore.AppendDocumentEnd(to, at)
	return bson.Raw(s.filter)
}

func (s *session) record(op *workload.Operation) bson.Raw {
	at, to := bsoncore.AppendDocumentStart(s.document[:0])
	to = bsoncore.AppendStringElement(to, "_id", string(op.Key))
	for i, value := range op.Values {
		to = bsoncore.AppendBinaryElement(to, s.server.fields[i], 0, value)
	}
	s.document, _ = bsoncore.AppendDocumentEnd(to, at)
	return bson.Raw(s.document)
}

func (s *session) read(ctx context.Context, op *workload.Operation) target.Outcome {
	var only *options.FindOneOptionsBuilder
	if op.Field >= 0 {
		only = options.FindOne().SetProjection(bson.D{{Key: s.server.fields[op.Field], Value: 1}})
	}
	var found *mongo.SingleResult
	if only == nil {
		found = s.server.collection.FindOne(ctx, s.byKey(op.Key))
	} else {
		found = s.server.collection.FindOne(ctx, s.byKey(op.Key), only)
	}
	_, err := found.Raw()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return target.Outcome{NotFound: true}
	}
	return target.Outcome{Err: err}
}

func (s *session) update(ctx context.Context, op *workload.Operation) target.Outcome {
	at, to := bsoncore.AppendDocumentStart(s.document[:0])
	set, to := bsoncore.AppendDocumentElementStart(to, "$set")
	for i, value := range op.Values {
		if op.Field < 0 || op.Field == i {
			to = bsoncore.AppendBinaryElement(to, s.server.fields[i], 0, value)
		}
	}
	to, _ = bsoncore.AppendDocumentEnd(to, set)
	s.document, _ = bsoncore.AppendDocumentEnd(to, at)
	done, err := s.server.collection.UpdateOne(ctx, s.byKey(op.Key), bson.Raw(s.document))
	if err != nil {
		return target.Outcome{Err: err}
	}
	return target.Outcome{NotFound: done.Acknowledged && done.MatchedCount == 0}
}

func (s *session) scan(ctx context.Context, op *workload.Operation) target.Outcome {
	from := bson.D{{Key: "_id", Value: bson.D{{Key: "$gte", Value: string(op.Key)}}}}
	sorted := options.Find().SetSort(bson.D{{Key: "_id", Value: 1}}).SetLimit(int64(op.Length)).SetBatchSize(int32(op.Length))
	cursor, err := s.server.collection.Find(ctx, from, sorted)
	if err != nil {
		return target.Outcome{Err: err}
	}
	found := 0
	for cursor.Next(ctx) {
		found++
	}
	err = cursor.Err()
	_ = cursor.Close(ctx)
	return target.Outcome{Err: err, NotFound: err == nil && found == 0}
}

// Insert implements target.Session.
func (s *session) Insert(records []*workload.Operation) (int, error) {
	documents := make([]any, len(records))
	for i, record := range records {
		documents[i] = append(bson.Raw(nil), s.record(record)...)
	}
	_, err := s.server.collection.InsertMany(context.Background(), documents, options.InsertMany().SetOrdered(false))
	var some mongo.BulkWriteException
	if errors.As(err, &some) && some.WriteConcernError == nil && len(some.WriteErrors) > 0 {
		return len(records) - len(some.WriteErrors), fmt.Errorf("%s", some.WriteErrors[0].Message)
	}
	if err != nil {
		return 0, err
	}
	return len(records), nil
}
