// For a source whose rows are operations already, as POST /v1/events/batch takes them: --mapping operations.mjs
export function toOperation(row) {
  return row;
}
