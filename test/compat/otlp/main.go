// Sends spans with the published Go exporter over gRPC, compressed, and prints how each batch ended as one JSON line.
//
// main <host:port> <project> <batches> <spans per batch>
package main

import (
	"context"
	"encoding/json"
	"os"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

func main() {
	ctx := context.Background()
	batches, _ := strconv.Atoi(os.Args[3])
	size, _ := strconv.Atoi(os.Args[4])
	exporter, err := otlptracegrpc.New(ctx,
		otlptracegrpc.WithEndpoint(os.Args[1]), otlptracegrpc.WithInsecure(), otlptracegrpc.WithCompressor("gzip"),
		otlptracegrpc.WithTimeout(30*time.Second),
		otlptracegrpc.WithHeaders(map[string]string{"authorization": "Bearer test-key", "project_id": os.Args[2]}))
	if err != nil {
		panic(err)
	}
	kept := tracetest.NewInMemoryExporter()
	tracer := sdk.NewTracerProvider(sdk.WithSyncer(kept)).Tracer("test")
	results, ids := []string{}, []string{}
	for batch := 0; batch < batches; batch++ {
		for n := 0; n < size; n++ {
			_, span := tracer.Start(ctx, "batch "+strconv.Itoa(batch))
			span.End()
		}
		spans := kept.GetSpans().Snapshots()
		kept.Reset()
		for _, span := range spans {
			ids = append(ids, span.SpanContext().SpanID().String())
		}
		result := "SUCCESS"
		if err := exporter.ExportSpans(ctx, spans); err != nil {
			result = err.Error()
		}
		results = append(results, result)
	}
	json.NewEncoder(os.Stdout).Encode(map[string]any{"results": results, "ids": ids})
}
