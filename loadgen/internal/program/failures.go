package program

import (
	"regexp"
	"sort"
	"sync"

	"benchbrief/loadgen/internal/record"
)

// failures counts errors by their text. Numbers in them, such as a connection's, are left out, and so many texts are
// kept that memory is bounded.
type failures struct {
	mutex  sync.Mutex
	counts map[string]int64
}

const (
	mostTexts   = 100
	listedTexts = 10
	longestText = 300
	otherText   = "other errors"
)

var changing = regexp.MustCompile(`\[-?[0-9]+\]|:[0-9]{4,5}->|[0-9a-f]{16,}|[0-9]{4,}`)

func newFailures() *failures { return &failures{counts: map[string]int64{}} }

func (f *failures) add(text string) {
	if len(text) > longestText {
		text = text[:longestText]
	}
	text = Masked(changing.ReplaceAllString(text, "#"))
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if _, known := f.counts[text]; !known && len(f.counts) >= mostTexts {
		text = otherText
	}
	f.counts[text]++
}

func (f *failures) list() []record.Failure {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	list := []record.Failure{}
	for text, count := range f.counts {
		list = append(list, record.Failure{Text: text, Count: count})
	}
	sort.Slice(list, func(i, j int) bool {
		if list[i].Count != list[j].Count {
			return list[i].Count > list[j].Count
		}
		return list[i].Text < list[j].Text
	})
	if len(list) > listedTexts {
		list = list[:listedTexts]
	}
	return list
}
