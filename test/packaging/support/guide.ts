import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { expect } from "vitest";

const guide = readFileSync(new URL("../../../docs/deploy.md", import.meta.url), "utf8");

/** A block of docs/deploy.md with the answer below it. */
export interface Block {
  code: string;
  answer: string | undefined;
}

/** The blocks of the guide that are marked as run by a test, in order. */
export function blocksOf(test: string): Block[] {
  const marked = new RegExp(
    `<!-- ${test} runs this block -->\n\n\`\`\`\\w+\n(.*?)^\`\`\`\n(?:\n\`\`\`\n(.*?)\n\`\`\`)?`,
    "gms",
  );
  return [...guide.matchAll(marked)].map(([, code, answer]) => ({ code: code!, answer }));
}

/** Returns the output of a bash script, which must succeed. */
export async function bash(script: string, cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn("bash", ["-euo", "pipefail", "-c", script], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  const [output, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close") as Promise<[number | null]>,
  ]);
  expect(code, `${script}\n${output}${errors}`).toBe(0);
  return output;
}
