//! Sends spans and log records with the published Rust exporters, set up by the variables of OpenTelemetry alone, and
//! prints the ids of the spans as one JSON line.
//!
//! client <count>
use opentelemetry::logs::{LogRecord, Logger, LoggerProvider, Severity};
use opentelemetry::trace::{Span, Tracer, TracerProvider};
use opentelemetry::KeyValue;
use opentelemetry_otlp::{LogExporter, SpanExporter};
use opentelemetry_sdk::logs::SdkLoggerProvider;
use opentelemetry_sdk::trace::SdkTracerProvider;

fn main() {
    let count: usize = std::env::args().nth(1).unwrap().parse().unwrap();
    let is_grpc = std::env::var("OTEL_EXPORTER_OTLP_PROTOCOL").as_deref() == Ok("grpc");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    // tonic runs on it; the blocking client over HTTP must not.
    let entered = is_grpc.then(|| runtime.enter());
    let (spans, logs) = if is_grpc {
        (SpanExporter::builder().with_tonic().build().unwrap(), LogExporter::builder().with_tonic().build().unwrap())
    } else {
        (SpanExporter::builder().with_http().build().unwrap(), LogExporter::builder().with_http().build().unwrap())
    };
    let traced = SdkTracerProvider::builder().with_batch_exporter(spans).build();
    let logged = SdkLoggerProvider::builder().with_batch_exporter(logs).build();
    let (tracer, logger) = (traced.tracer("client"), logged.logger("client"));
    let mut ids = Vec::new();
    for n in 0..count {
        let mut span = tracer.start("chat");
        span.set_attribute(KeyValue::new("gen_ai.prompt", "x".repeat(100)));
        ids.push(format!("\"{}\"", span.span_context().span_id()));
        span.end();
        let mut record = logger.create_log_record();
        record.set_severity_number(Severity::Info);
        record.set_body(format!("record {n}").into());
        logger.emit(record);
    }
    let results = [traced.shutdown(), logged.shutdown()];
    drop(entered);
    let failed: Vec<String> = results.iter().filter_map(|one| one.as_ref().err()).map(|e| format!("{:?}", e.to_string())).collect();
    println!("{{\"errors\":[{}],\"ids\":[{}]}}", failed.join(","), ids.join(","));
}
