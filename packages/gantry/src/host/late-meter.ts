import type { Counter, Histogram, Meter, MetricOptions, UpDownCounter } from '@opentelemetry/api';

/** The part of a meter that Gantry's rooms use. */
export type Instruments = Pick<Meter, 'createCounter' | 'createHistogram' | 'createUpDownCounter'>;

/** A meter whose instruments record nothing until a real one is bound. */
export interface LateMeter extends Instruments {
  /** Makes the real instruments; from now on every record goes there. */
  bind(real: Instruments): void;
}

/**
 * Makes a {@link LateMeter}. The OpenTelemetry API hands out dead instruments before its SDK is registered, and loading the
 * SDK takes a good part of the start-up budget, so it is loaded behind the start and bound then.
 */
export const createLateMeter = (): LateMeter => {
  const binders: ((real: Instruments) => void)[] = [];
  let bound: Instruments | undefined;

  const late = <Instrument>(make: (meter: Instruments) => Instrument): (() => Instrument | undefined) => {
    let instrument = bound && make(bound);
    binders.push((real) => (instrument = make(real)));
    return () => instrument;
  };
  const counter = (make: (meter: Instruments) => Counter | UpDownCounter): Counter => {
    const current = late(make);
    return { add: (value, attributes, context) => current()?.add(value, attributes, context) };
  };

  return {
    createCounter: (name: string, options?: MetricOptions) => counter((meter) => meter.createCounter(name, options)),
    createUpDownCounter: (name: string, options?: MetricOptions) =>
      counter((meter) => meter.createUpDownCounter(name, options)),
    createHistogram: (name: string, options?: MetricOptions): Histogram => {
      const current = late((meter) => meter.createHistogram(name, options));
      return { record: (value, attributes, context) => current()?.record(value, attributes, context) };
    },
    bind: (real) => {
      bound = real;
      for (const bind of binders) bind(real);
    },
  };
};
