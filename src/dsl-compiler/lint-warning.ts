/** Something in a sound snapshot that its author will hardly have meant. */
export interface LintWarning {
  path: string;
  code:
    | "UNREACHABLE_STATE"
    | "CIRCLE_BY_TIME"
    | "UNUSED_EVENT"
    | "IMPOSSIBLE_CONDITION"
    | "POINTLESS_CONDITION"
    | "EMPTY_SEGMENT"
    | "SILENT_SIGNAL";
  message: string;
}
