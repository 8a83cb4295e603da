import { Analytics } from "@segment/analytics-node";
import RudderAnalytics from "@rudderstack/rudder-sdk-node";

/** The calls that both SDKs have. */
export interface Sender {
  track(call: { userId: string; event: string; properties?: object; timestamp?: Date; context?: object }): void;
  identify(call: { userId: string; traits?: object }): void;
  group(call: { userId: string; groupId: string; traits?: object }): void;
  page(call: { userId: string; name?: string; properties?: object }): void;
  alias(call: { userId: string; previousId: string }): void;
  /** Resolves when everything was answered. */
  close(): Promise<void>;
}

export const SDKS = ["segment", "rudderstack"] as const;

/** An unmodified SDK; sets only host, key, and how often it flushes, and lets RudderStack's retry more than 3 times. */
export function senderOf(sdk: (typeof SDKS)[number], url: string, key: string): Sender {
  if (sdk === "segment") {
    const analytics = new Analytics({ writeKey: key, host: url, flushAt: 15, flushInterval: 50 });
    analytics.on("error", () => undefined);
    return {
      track: (call) => analytics.track(call),
      identify: (call) => analytics.identify(call),
      group: (call) => analytics.group(call),
      page: (call) => analytics.page(call),
      alias: (call) => analytics.alias(call),
      close: () => analytics.closeAndFlush({ timeout: 60_000 }),
    };
  }
  const options = { dataPlaneUrl: url, flushAt: 15, flushInterval: 50, retryCount: 100, logLevel: "silent" };
  const analytics = new RudderAnalytics(key, options);
  const answered: Promise<unknown>[] = [];
  const call = (send: (done: (error?: Error) => void) => void) => {
    answered.push(new Promise<void>((resolve, reject) => send((error) => (error ? reject(error) : resolve()))));
  };
  return {
    track: (message) => call((done) => analytics.track(message as never, done)),
    identify: (message) => call((done) => analytics.identify(message as never, done)),
    group: (message) => call((done) => analytics.group(message as never, done)),
    page: (message) => call((done) => analytics.page(message as never, done)),
    alias: (message) => call((done) => analytics.alias(message, done)),
    close: async () => {
      await Promise.all(answered);
    },
  };
}
