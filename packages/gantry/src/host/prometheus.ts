import type { Instruments } from './late-meter.ts';

/** Metrics of this process for Prometheus, counted from when they were started. */
export interface PrometheusMetrics extends AsyncDisposable {
  readonly meter: Instruments;
  /** Everything recorded so far in the text format. */
  read(): Promise<string>;
}

/** Loads the metrics SDK and starts recording. */
export const startPrometheus = async (version: string): Promise<PrometheusMetrics> => {
  const [{ MeterProvider }, { PrometheusExporter, PrometheusSerializer }] = await Promise.all([
    import('@opentelemetry/sdk-metrics'),
    import('@opentelemetry/exporter-prometheus'),
  ]);
  const exporter = new PrometheusExporter({ preventServerStart: true });
  const provider = new MeterProvider({ readers: [exporter] });
  const serializer = new PrometheusSerializer();
  return {
    meter: provider.getMeter('gantry', version),
    read: async () => serializer.serialize((await exporter.collect()).resourceMetrics),
    [Symbol.asyncDispose]: () => provider.shutdown(),
  };
};
