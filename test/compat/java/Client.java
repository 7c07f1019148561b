// Sends spans and log records with the published Java exporters, set up by the variables of OpenTelemetry alone, and
// prints the ids of the spans as one JSON line.
//
// java -cp <libraries> Client.java <count>
import io.opentelemetry.api.logs.Severity;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import io.opentelemetry.sdk.common.CompletableResultCode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

class Client {
  public static void main(String[] args) {
    int count = Integer.parseInt(args[0]);
    OpenTelemetrySdk sdk = AutoConfiguredOpenTelemetrySdk.initialize().getOpenTelemetrySdk();
    var tracer = sdk.getTracer("client");
    var logger = sdk.getLogsBridge().get("client");
    List<String> ids = new ArrayList<>();
    for (int n = 0; n < count; n++) {
      var span = tracer.spanBuilder("chat").setAttribute("gen_ai.prompt", "x".repeat(100)).startSpan();
      ids.add('"' + span.getSpanContext().getSpanId() + '"');
      span.end();
      logger.logRecordBuilder().setSeverity(Severity.INFO).setBody("record " + n).emit();
    }
    List<String> errors = new ArrayList<>();
    for (CompletableResultCode one : List.of(sdk.getSdkTracerProvider().forceFlush(), sdk.getSdkLoggerProvider().forceFlush()))
      if (!one.join(60, TimeUnit.SECONDS).isSuccess()) errors.add("\"FAILURE\"");
    sdk.close();
    System.out.println("{\"errors\":" + errors + ",\"ids\":" + ids + "}");
    System.exit(0);
  }
}
