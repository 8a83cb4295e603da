/** Progress of a phase: a bar on a terminal, otherwise a line at every tenth. */
import { Presets, SingleBar } from "cli-progress";

export interface Progress {
  update: (done: number, note?: string) => void;
  /** Ends the phase. */
  finish: () => void;
}

export interface Output {
  write: (text: string) => unknown;
  isTTY?: boolean | undefined;
}

/** @param total the count at 100 % @param unit what is counted, in the plural */
export function startProgress(
  output: Output & NodeJS.WritableStream,
  label: string,
  total: number,
  unit: string,
): Progress {
  return output.isTTY === true ? bar(output, label, total, unit) : lines(output, label, total, unit);
}

function bar(stream: NodeJS.WritableStream, label: string, total: number, unit: string): Progress {
  const format = `${label.padEnd(10)} {bar} {percentage}% | {value}/{total} ${unit} {note}`;
  const options = { format, stream, barsize: 30, hideCursor: true, etaBuffer: 50 };
  const single = new SingleBar(options, Presets.shades_classic);
  single.start(Math.max(1, total), 0, { note: "" });
  return { update: (done, note = "") => single.update(Math.min(done, total), { note }), finish: () => single.stop() };
}

/** Prints only whole tenths, each once, and never backwards. */
export function lines(output: Output, label: string, total: number, unit: string): Progress {
  let printed = 0;
  return {
    update: (done) => {
      const tenth = Math.floor((Math.min(done, total) / Math.max(1, total)) * 10);
      if (tenth <= printed) return;
      printed = tenth;
      output.write(`${label} ${tenth * 10} % (${Math.min(done, total)} of ${total} ${unit})\n`);
    },
    finish: () => undefined,
  };
}
