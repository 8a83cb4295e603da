import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { temporaryDirectory } from "../../support/server.js";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

export const webhooksGuide = readFileSync(path.join(ROOT, "docs/webhooks.md"), "utf8");

/** A receiver from the guide. */
export interface GuideReceiver {
  /** The heading above its code. */
  title: string;
  file: string;
  source: string;
}

/** The receivers of the guide that a test runs, in order. */
export function receiversOf(test: string): readonly GuideReceiver[] {
  const mark = `<!-- ${test} runs this receiver -->`;
  return webhooksGuide
    .split(/^### /m)
    .filter((section) => section.includes(mark))
    .map((section) => {
      const [, language, source] = /^\n\n```(js|python)\n(.*?)^```$/ms.exec(
        section.slice(section.indexOf(mark) + mark.length),
      )!;
      const title = section.slice(0, section.indexOf("\n"));
      return { title, file: language === "js" ? "receiver.mjs" : "receiver.py", source: source! };
    });
}

/** Why a receiver cannot run on this machine, or null. */
export function missing({ file }: GuideReceiver): string | null {
  if (file.endsWith(".mjs")) return null;
  return spawnSync("python3", ["--version"]).status === 0 ? null : "python3 is not on this machine";
}

export interface RunningReceiver {
  url: string;
  /** Stops it; returns its output, a line for each handled event. */
  stop(): Promise<string[]>;
}

/** Runs a receiver unchanged, in a new folder. */
export async function runReceiver(
  { file, source }: GuideReceiver,
  secret: string,
  env: Readonly<Record<string, string>> = {},
): Promise<RunningReceiver> {
  const directory = await temporaryDirectory();
  await writeFile(path.join(directory, file), source);
  await symlink(path.join(ROOT, "node_modules"), path.join(directory, "node_modules"));
  const program = file.endsWith(".mjs") ? process.execPath : "python3";
  const child = spawn(program, [file], {
    cwd: directory,
    env: { ...process.env, ...env, WEBHOOK_SECRET: secret, PORT: "0" },
    // It reports refusals on stderr.
    stdio: ["ignore", "pipe", "ignore"],
  });
  const output: string[] = [];
  const lines = createInterface(child.stdout);
  lines.on("line", (line) => output.push(line));
  const ended = Promise.all([once(child, "close"), once(lines, "close")]);
  const stop = async () => {
    child.kill();
    await ended;
    await rm(directory, { recursive: true, force: true });
    return output.slice(1);
  };
  await Promise.race([once(lines, "line"), ended]);
  const [line = "nothing"] = output;
  const url = /^listening on (http:\S+)$/.exec(line)?.[1];
  if (url === undefined) {
    await stop();
    throw new Error(`the receiver does not listen, it says ${line}`);
  }
  return { url: `${url}/hooks`, stop };
}
