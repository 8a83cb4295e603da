/** What the service warns of: it has no word for it, because an answer's diagnostics are all of one kind. */
export function asWarnings(diagnostics: readonly unknown[]): object[] {
  return diagnostics.map((found) => ({ severity: "warning", ...(found as object) }));
}
