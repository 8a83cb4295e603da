import type { Context } from "./context.js";

/** What is over sooner needs no word. */
const SHOWN_AFTER_MS = 300;

/** Says on a terminal what is being waited for, and takes it back when that is over. */
export async function working<T>({ io, out }: Context, what: string, work: Promise<T>): Promise<T> {
  if (io.stderr.isTTY !== true) return work;
  const line = { isShown: false };
  const timer = setTimeout(() => {
    line.isShown = true;
    io.stderr.write(out.errorStyle.dim(`${what} …`));
  }, SHOWN_AFTER_MS);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
    // To the line's beginning, and away with what stands there.
    if (line.isShown) io.stderr.write("\r\u001b[K");
  }
}
