/** Problems with bytes on a connection: stalled uploads, slow headers, ambiguous requests. */
import { connect, type Socket } from "node:net";
import { flood, pause, untilAborted } from "../flood.js";
import { ATTACKERS_ADDRESS } from "../sender.js";
import type { Attack, Ground } from "./attack.js";

const UPLOAD_BYTES = 64 * 1024 * 1024;
const CHUNK = Buffer.alloc(64 * 1024, " ");
const ANSWER_MS_MAX = 15_000;
const AGAIN_AFTER_MS = 1_000;
const TRIES_MAX = 10;
/** Not the address of the other attacks, which may use up its connections. */
const ANOTHER_ADDRESS = "127.0.0.3";

/** A connection to the service; `ended` resolves however it ends. */
class Line {
  received = "";
  readonly ended: Promise<void>;

  constructor(
    { stage, tally }: Ground,
    private readonly signal: AbortSignal,
    localAddress = ATTACKERS_ADDRESS,
  ) {
    const { hostname, port } = new URL(stage.service.url);
    this.socket = connect({ host: hostname, port: Number(port), localAddress });
    this.socket.on(
      "error",
      (error: NodeJS.ErrnoException) => signal.aborted || tally.answered(error.code ?? error.name),
    );
    this.socket.on("data", (bytes: Buffer) => (this.received += bytes.toString("latin1")));
    const drop = () => this.socket.destroy();
    signal.addEventListener("abort", drop, { once: true });
    this.ended = new Promise((resolve) =>
      this.socket.once("close", () => {
        signal.removeEventListener("abort", drop);
        const answers = this.answers;
        for (const status of answers) tally.answered(status);
        if (answers.length === 0 && !signal.aborted) tally.answered("closed");
        resolve();
      }),
    );
  }

  readonly socket: Socket;

  /** The statuses received so far. */
  get answers(): string[] {
    return [...this.received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status!);
  }

  /** Resolves once it is written, or the connection has ended. */
  async write(bytes: Buffer | string): Promise<void> {
    if (this.socket.write(bytes)) return;
    await Promise.race([this.ended, new Promise((resolve) => this.socket.once("drain", resolve))]);
  }

  /** Waits until `count` answers have arrived, the connection has ended, or the time is over. */
  async answered(count: number): Promise<void> {
    const giveUpAt = performance.now() + ANSWER_MS_MAX;
    while (this.answers.length < count && !this.socket.closed && performance.now() < giveUpAt && !this.signal.aborted)
      await pause(20, this.signal);
  }
}

function stalled(count: number): Attack {
  return {
    name: `stalled-uploads-${count}`,
    what: `${count} uploads of 64 MB that stop one byte before their end`,
    prepare: async (ground) => (signal) =>
      flood({ lanes: count, signal }, async () => {
        const line = new Line(ground, signal);
        ground.tally.sent(UPLOAD_BYTES);
        const head = [
          "POST /v1/events/batch HTTP/1.1",
          "Host: 127.0.0.1",
          `Authorization: Bearer ${ground.key}`,
          "Content-Type: application/json",
          `Content-Length: ${UPLOAD_BYTES}`,
          "\r\n",
        ];
        await line.write(head.join("\r\n"));
        for (let sent = CHUNK.length; sent < UPLOAD_BYTES && !line.socket.destroyed; sent += CHUNK.length)
          await line.write(CHUNK);
        await line.write(CHUNK.subarray(1));
        await line.ended;
      }),
  };
}

const SLOW_HEADS: Attack = {
  name: "slow-headers",
  what: "1,000 connections whose headers arrive one byte a second",
  prepare: async (ground) => (signal) =>
    flood({ lanes: 1_000, signal }, async () => {
      const line = new Line(ground, signal);
      const text = `GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ${"x".repeat(10_000)}`;
      for (const byte of text) {
        if (line.socket.destroyed) break;
        ground.tally.bytes += 1;
        await line.write(byte);
        await pause(1_000, signal);
      }
      await line.ended;
      ground.tally.requests += 1;
    }),
};

/** A single exchange on a separate connection. During a flood a connection may end before it is read; then another one is tried. */
function exchange(
  name: string,
  what: string,
  text: string,
  judge: (answers: string[], ended: boolean) => string | null,
): Attack {
  return {
    name,
    what,
    prepare: async (ground) => async (signal) => {
      let line: Line;
      for (let tries = 1; ; tries++) {
        line = new Line(ground, signal, ANOTHER_ADDRESS);
        ground.tally.sent(text.length);
        await line.write(text);
        await line.answered(2);
        if (signal.aborted) return;
        if (!line.socket.closed || line.answers.length > 0 || tries === TRIES_MAX) break;
        await pause(AGAIN_AFTER_MS, signal);
      }
      const problem = judge(line.answers, line.socket.closed);
      if (problem !== null) ground.tally.breaches.add(problem);
      line.socket.destroy();
      await untilAborted(signal);
    },
  };
}

const PIPELINED = exchange(
  "pipelined-upgrade",
  "a request pipelined behind one with Upgrade:",
  "GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nGET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
  (answers, ended) =>
    answers.length === 2 || ended ? null : `the pipelined request got no answer, and the connection stayed open`,
);

const SECOND_HOST = exchange(
  "second-host",
  "a request with a second Host",
  "GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: elsewhere.example\r\nConnection: close\r\n\r\n",
  ([status]) => (status === "400" ? null : `a request with two headers Host was answered ${status ?? "with nothing"}`),
);

export const WIRE: readonly Attack[] = [stalled(3), stalled(30), SLOW_HEADS, PIPELINED, SECOND_HOST];
