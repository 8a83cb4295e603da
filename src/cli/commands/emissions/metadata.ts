/** The metadata of an emission; a change of lifecycle or of the health band is shown as such. */
export function metadataInWords(metadata: Record<string, unknown>): string {
  const { previous_lifecycle, new_lifecycle, previous_band, new_band, ...rest } = metadata;
  const changes = [changeInWords(previous_lifecycle, new_lifecycle), changeInWords(previous_band, new_band)];
  const others = Object.entries(rest).map(
    ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return [...changes.filter((change) => change !== null), ...others].join(", ");
}

function changeInWords(before: unknown, after: unknown): string | null {
  if (typeof after !== "string") return null;
  return typeof before === "string" ? `${before} → ${after}` : after;
}
