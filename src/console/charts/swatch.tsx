/** What in a legend shows the look of a line, or of the space `between` two. */
export function Swatch({ kind }: { kind: string }) {
  return (
    <svg class="chart" viewBox="0 0 10 10" aria-hidden="true">
      {kind === "between" ? <rect class={kind} width="10" height="10" /> : <path class={kind} d="M0 5H10" />}
    </svg>
  );
}
