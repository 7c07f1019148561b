// Sends spans and log records with the published Java exporters, set up by the variables of OpenTelemetry alone, and
// prints the ids of the spans as one JSON line.
//
// java -cp <libraries and classes> Client <count>
import io.opentelemetry.api.logs.Severity;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import io.opentelemetry.sdk.common.CompletableResultCode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

class Client {
  public static void main(String[] args) throws IOException {
    int count = Integer.parseInt(args[0]);
    OpenTelemetrySdk sdk = AutoConfiguredOpenTelemetrySdk.initialize().getOpenTelemetrySdk();
    List<String> errors = Collections.synchronizedList(new ArrayList<>());
    // A flush does not say that an exporter has given up, its log does.
    var log = Logger.getLogger("io.opentelemetry");
    log.addHandler(new Handler() {
      public void publish(LogRecord record) {
        if (record.getLevel().intValue() >= Level.WARNING.intValue()) errors.add('"' + record.getLoggerName() + '"');
      }

      public void flush() {}

      public void close() {}
    });
    var tracer = sdk.getTracer("client");
    var logger = sdk.getLogsBridge().get("client");
    System.out.println("ready");
    System.in.read();
    List<String> ids = new ArrayList<>();
    for (int n = 0; n < count; n++) {
      var span = tracer.spanBuilder("chat").setAttribute("gen_ai.prompt", "x".repeat(100)).startSpan();
      ids.add('"' + span.getSpanContext().getSpanId() + '"');
      span.end();
      logger.logRecordBuilder().setSeverity(Severity.INFO).setBody("record " + n).emit();
    }
    for (CompletableResultCode one : List.of(sdk.getSdkTracerProvider().forceFlush(), sdk.getSdkLoggerProvider().forceFlush()))
      if (!one.join(60, TimeUnit.SECONDS).isSuccess()) errors.add("\"FAILURE\"");
    sdk.close();
    System.out.println("{\"errors\":" + errors + ",\"ids\":" + ids + "}");
    System.exit(0);
  }
}
