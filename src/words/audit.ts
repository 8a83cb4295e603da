/**
 * What an entry of the audit log tells besides its target, in one line: `email: "bob@example.com", role: "viewer"`; of what became another
 * `viewer, before administrator`. What is null or empty says nothing.
 */
export function detailsInWords(details: object): string {
  const { before, after, ...others } = details as { before?: string; after?: string };
  const became = after === undefined ? [] : [`${after}, before ${before}`];
  const told = Object.entries(others)
    .filter(([, value]) => value !== null && !(Array.isArray(value) && value.length === 0))
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return [...told, ...became].join(", ");
}
