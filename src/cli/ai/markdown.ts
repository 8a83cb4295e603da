/** A text as code within a line, whatever it holds. */
export function code(text: string): string {
  const shown = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, " ");
  const fence = "`".repeat(longestRun(shown) + 1);
  return shown.startsWith("`") || shown.endsWith("`") ? `${fence} ${shown} ${fence}` : `${fence}${shown}${fence}`;
}

/** A text, with the line break at its end, as a block of code, which nothing in it ends. */
export function block(language: string, text: string): string {
  const fence = "`".repeat(Math.max(3, longestRun(text) + 1));
  return `${fence}${language}\n${text}${fence}`;
}

function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
}
