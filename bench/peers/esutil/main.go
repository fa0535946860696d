// The Go client's BulkIndexer, used as its documentation shows.
//
//	esutil -file FILE -url URL -index INDEX -workers N [-queue N] [-proxy URL] [-trim] [-update]
//
// Each line is given to the indexer as it is. -trim asks for a status per item only. -update changes the document with the id of the line.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"log"
	"net/http"
	"net/url"
	"os"

	"github.com/elastic/go-elasticsearch/v9"
	"github.com/elastic/go-elasticsearch/v9/esutil"
)

func main() {
	file := flag.String("file", "", "")
	cluster := flag.String("url", "", "")
	index := flag.String("index", "", "")
	workers := flag.Int("workers", 0, "0: one per core")
	queue := flag.Int("queue", 0, "0: the indexer's default")
	proxy := flag.String("proxy", "", "")
	trim := flag.Bool("trim", false, "")
	update := flag.Bool("update", false, "")
	flag.Parse()

	// Go leads no connection to a loopback address through a proxy of the environment, so it is set here.
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 64
	if *proxy != "" {
		address, err := url.Parse(*proxy)
		check(err)
		transport.Proxy = http.ProxyURL(address)
	}
	client, err := elasticsearch.NewClient(elasticsearch.Config{Addresses: []string{*cluster}, Transport: transport})
	check(err)

	settings := esutil.BulkIndexerConfig{
		Client:              client,
		Index:               *index,
		NumWorkers:          *workers,
		QueueSizeMultiplier: *queue,
		OnError:             func(_ context.Context, err error) { log.Fatal(err) },
	}
	if *trim {
		settings.FilterPath = []string{"errors", "items.*.status", "items.*.error"}
	}
	indexer, err := esutil.NewBulkIndexer(settings)
	check(err)

	input, err := os.Open(*file)
	check(err)
	lines := bufio.NewScanner(input)
	lines.Buffer(make([]byte, 1<<20), 16<<20)
	ctx := context.Background()
	for lines.Scan() {
		// The scanner overwrites its line; the indexer keeps it until it was sent.
		item := esutil.BulkIndexerItem{Action: "index"}
		line := bytes.Clone(lines.Bytes())
		if *update {
			var named struct{ ID json.Number }
			check(json.Unmarshal(line, &named))
			item.Action, item.DocumentID = "update", named.ID.String()
			line = bytes.Join([][]byte{[]byte(`{"doc":`), line, []byte("}")}, nil)
		}
		item.Body = bytes.NewReader(line)
		check(indexer.Add(ctx, item))
	}
	check(lines.Err())
	check(indexer.Close(ctx))
	if failed := indexer.Stats().NumFailed; failed > 0 {
		log.Fatalf("%d documents failed", failed)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
