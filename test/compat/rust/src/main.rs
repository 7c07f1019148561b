//! Sends spans and log records with the published Rust exporters, set up by the variables of OpenTelemetry alone, and
//! prints the ids of the spans as one JSON line.
//!
//! client <count>
use opentelemetry::logs::{LogRecord, Logger, LoggerProvider, Severity};
use opentelemetry::trace::{Span, Tracer, TracerProvider};
use opentelemetry::KeyValue;
use opentelemetry_otlp::tonic_types::transport::{Certificate, ClientTlsConfig};
use opentelemetry_otlp::{LogExporter, SpanExporter, WithTonicConfig};
use opentelemetry_sdk::logs::SdkLoggerProvider;
use opentelemetry_sdk::trace::SdkTracerProvider;

/// The exporter does not read this variable by itself.
fn secured<Builder: WithTonicConfig>(builder: Builder) -> Builder {
    match std::env::var("OTEL_EXPORTER_OTLP_CERTIFICATE") {
        Ok(file) => {
            let authority = Certificate::from_pem(std::fs::read(file).unwrap());
            builder.with_tls_config(ClientTlsConfig::new().ca_certificate(authority))
        }
        Err(_) => builder,
    }
}

fn main() {
    let count: usize = std::env::args().nth(1).unwrap().parse().unwrap();
    let is_grpc = std::env::var("OTEL_EXPORTER_OTLP_PROTOCOL").as_deref() == Ok("grpc");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    // tonic runs on it; the blocking client over HTTP must not.
    let entered = is_grpc.then(|| runtime.enter());
    let (spans, logs) = if is_grpc {
        let (spans, logs) = (SpanExporter::builder().with_tonic(), LogExporter::builder().with_tonic());
        (secured(spans).build().unwrap(), secured(logs).build().unwrap())
    } else {
        (SpanExporter::builder().with_http().build().unwrap(), LogExporter::builder().with_http().build().unwrap())
    };
    let traced = SdkTracerProvider::builder().with_batch_exporter(spans).build();
    let logged = SdkLoggerProvider::builder().with_batch_exporter(logs).build();
    let (tracer, logger) = (traced.tracer("client"), logged.logger("client"));
    println!("ready");
    std::io::stdin().read_line(&mut String::new()).unwrap();
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
    let patience = std::time::Duration::from_secs(60);
    let results = [traced.shutdown_with_timeout(patience), logged.shutdown_with_timeout(patience)];
    drop(entered);
    let failed: Vec<String> = results.iter().filter_map(|one| one.as_ref().err()).map(|e| format!("{:?}", e.to_string())).collect();
    println!("{{\"errors\":[{}],\"ids\":[{}]}}", failed.join(","), ids.join(","));
}
