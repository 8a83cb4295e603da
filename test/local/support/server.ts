import { onTestFinished } from "vitest";
import type { LocalEngineOptions } from "../../../src/local/engine.js";
import { startLocalServer, type LocalServer } from "../../../src/local/server.js";
import type { Snapshot } from "../../../src/model/snapshot/types.js";
import { textOf } from "../../support/browser.js";
import { localEngine } from "./model.js";

type Options = Partial<LocalEngineOptions> & Partial<Parameters<typeof startLocalServer>[0]>;

/** A local engine behind real HTTP, with a manual clock, until the test ends. */
export async function serveLocally(snapshot?: Snapshot, options: Options = {}) {
  const { observe = () => undefined, timersFired = () => undefined, ...ofEngine } = options;
  const { engine, clock } = localEngine(snapshot, ofEngine);
  const server: LocalServer = await startLocalServer({ engine, port: 0, observe, timersFired });
  onTestFinished(() => server.stop());
  return {
    engine,
    clock,
    url: server.url,
    /** A page of the console: `customers?limit=3`. The text includes what is above `main`: the clock. */
    page: async (path: string) => {
      const response = await fetch(`${server.url}/console/${path}`);
      const html = await response.text();
      return { status: response.status, html, text: textOf(html.replaceAll(/<.?main[^>]*>/g, "")) };
    },
  };
}
