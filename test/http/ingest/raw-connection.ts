import { connect } from "node:net";

/** An answer as received. */
export interface RawAnswer {
  status: number;
  /** By lower-case name. */
  headers: Record<string, string>;
  body: unknown;
}

export type RawConnection = ReturnType<typeof openConnection>;

/** The head of a request; undefined headers are omitted. */
export function headOf(line: string, headers: Readonly<Record<string, string | number | undefined>>): string {
  const lines = Object.entries(headers).map(([name, value]) => (value === undefined ? "" : `${name}: ${value}\r\n`));
  return `${line}\r\n${lines.join("")}\r\n`;
}

/** A connection on which a test writes arbitrary bytes. */
export function openConnection(url: string) {
  const { hostname, port } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
  let received = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => (received += chunk));
  socket.on("error", () => undefined); // a reset, followed by "close"
  socket.on("end", () => socket.end());
  return {
    socket,
    write: (text: string | Buffer) => void socket.write(text),
    /** Closes our half of the connection. */
    end: () => void socket.end(),
    /** The answers so far, interim ones included. */
    answers: () => readAnswers(received),
    /** All answers, once the server has closed the connection. */
    closed: new Promise<RawAnswer[]>((resolve) => socket.once("close", () => resolve(readAnswers(received)))),
  };
}

function readAnswers(text: string): RawAnswer[] {
  const answers: RawAnswer[] = [];
  for (let rest = text; rest !== "";) {
    const end = rest.indexOf("\r\n\r\n");
    if (end === -1) break;
    const [statusLine = "", ...lines] = rest.slice(0, end).split("\r\n");
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
    );
    const length = Number(headers["content-length"] ?? 0);
    const body = rest.slice(end + 4, end + 4 + length);
    if (body.length < length) break;
    answers.push({
      status: Number(statusLine.split(" ")[1]),
      headers,
      body: body === "" ? undefined : JSON.parse(Buffer.from(body, "latin1").toString()),
    });
    rest = rest.slice(end + 4 + length);
  }
  return answers;
}
