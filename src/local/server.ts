import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createHttpServer, drain } from "../http/server.js";
import { createLocalApp } from "./app.js";
import type { LocalEngine } from "./engine.js";
import type { CustomerChange } from "./population.js";
import type { Observe } from "./report.js";

/** Another program listens on the port. */
export class PortTakenError extends Error {
  constructor(readonly port: number) {
    super(`the port ${port} is taken`);
  }
}

/** The longest delay of setTimeout; a longer one would fire at once. */
const DELAY_MS_MAX = 2 ** 31 - 1;

const HOST = "127.0.0.1";
/** How long running requests may take once the server stops. */
const DRAIN_MS_MAX = 2_000;

export interface LocalServerOptions {
  engine: LocalEngine;
  /** 0 for any free port. */
  port: number;
  observe: Observe;
  timersFired: (changes: readonly CustomerChange[]) => void;
}

export interface LocalServer {
  /** For example `http://127.0.0.1:4401`. */
  url: string;
  /** Must be called when the engine was changed other than by a request. */
  engineChanged: () => void;
  /** Stops accepting requests, answers the running ones, then resolves. */
  stop: () => Promise<void>;
}

/** Serves a local engine, to this machine only. With the real clock, timers fire when they are due. @throws {PortTakenError} */
export async function startLocalServer(options: LocalServerOptions): Promise<LocalServer> {
  const { engine, observe, timersFired } = options;
  let timer: NodeJS.Timeout | undefined;
  const fireTimers = (): void => {
    const changes = engine.advance().filter(({ effects }) => effects.length > 0);
    setAlarm();
    if (changes.length > 0) timersFired(changes);
  };
  /** Calls `fireTimers` when the next timer is due, or earlier if that is beyond the longest delay. Does not keep the process alive. */
  const setAlarm = (): void => {
    clearTimeout(timer);
    // A test clock is moved only by requests.
    const dueAt = engine.clock.kind === "test" ? null : engine.population.nextDueAt;
    if (dueAt !== null) timer = setTimeout(fireTimers, Math.min(Math.max(dueAt - Date.now(), 0), DELAY_MS_MAX)).unref();
  };
  const app = createLocalApp({
    engine,
    observe: (report) => {
      setAlarm();
      observe(report);
    },
  });
  const server = createHttpServer(app.callback(), undefined);
  const port = await listen(server, options.port);
  setAlarm();
  return {
    url: `http://${HOST}:${port}`,
    engineChanged: setAlarm,
    stop: async () => {
      clearTimeout(timer);
      await drain(server, DRAIN_MS_MAX);
    },
  };
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      reject(error.code === "EADDRINUSE" ? new PortTakenError(port) : error),
    );
    server.listen(port, HOST, () => resolve((server.address() as AddressInfo).port));
  });
}
