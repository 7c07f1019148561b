// Sends spans and log records with the published exporters, set up by the variables of OpenTelemetry alone, and prints
// the ids of the spans as one JSON line.
//
// client <count>
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploggrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/log"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

func must[T any](made T, err error) T {
	if err != nil {
		panic(err)
	}
	return made
}

func main() {
	ctx := context.Background()
	count := must(strconv.Atoi(os.Args[1]))
	errors := []string{}
	// Called by one exporter at a time: the flushes come one after the other.
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { errors = append(errors, err.Error()) }))
	var spans *otlptrace.Exporter
	var records sdklog.Exporter
	if os.Getenv("OTEL_EXPORTER_OTLP_PROTOCOL") == "grpc" {
		spans, records = must(otlptracegrpc.New(ctx)), must(otlploggrpc.New(ctx))
	} else {
		spans, records = must(otlptracehttp.New(ctx)), must(otlploghttp.New(ctx))
	}
	traced := sdktrace.NewTracerProvider(sdktrace.WithBatcher(spans))
	logged := sdklog.NewLoggerProvider(sdklog.WithProcessor(sdklog.NewBatchProcessor(records)))
	tracer, logger := traced.Tracer("client"), logged.Logger("client")
	fmt.Println("ready")
	bufio.NewReader(os.Stdin).ReadString('\n')

	ids := []string{}
	for n := 0; n < count; n++ {
		_, span := tracer.Start(ctx, "chat")
		span.SetAttributes(attribute.String("gen_ai.prompt", strings.Repeat("x", 100)))
		ids = append(ids, span.SpanContext().SpanID().String())
		span.End()
		var record log.Record
		record.SetSeverity(log.SeverityInfo)
		record.SetBody(attribute.StringValue(fmt.Sprintf("record %d", n)))
		logger.Emit(ctx, record)
	}
	for _, flush := range []func(context.Context) error{traced.ForceFlush, logged.ForceFlush, traced.Shutdown, logged.Shutdown} {
		if err := flush(ctx); err != nil {
			errors = append(errors, err.Error())
		}
	}
	json.NewEncoder(os.Stdout).Encode(map[string]any{"errors": errors, "ids": ids})
}
