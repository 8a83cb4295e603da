import type { ComponentChildren } from "preact";

const COLOURS = 8;

/** What is drawn over those after the eighth of many. A picture has it once, also for its legend. */
export function Hatchings() {
  return (
    <defs>
      {[45, -45].map((angle, index) => (
        <pattern
          id={`hatching-${index + 1}`}
          width="6"
          height="6"
          patternUnits="userSpaceOnUse"
          patternTransform={`rotate(${angle})`}
          key={angle}
        >
          <rect class="hatching" width="2" height="6" />
        </pattern>
      ))}
    </defs>
  );
}

/** Draws one of many with the look of its place: of eight colours, then the same hatched. @param draw gives the shape with this look */
export function Coloured(props: {
  place: number;
  draw: (look: { class?: string; fill?: string }) => ComponentChildren;
}) {
  const { place, draw } = props;
  const hatching = Math.floor(place / COLOURS) % 3;
  return (
    <>
      {draw({ class: `c${(place % COLOURS) + 1}` })}
      {hatching === 0 ? null : draw({ fill: `url(#hatching-${hatching})` })}
    </>
  );
}
