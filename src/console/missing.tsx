import type { ComponentChildren } from "preact";
import type { View } from "./console-page.js";
import { LinkLine, type Link } from "./parts.js";

/** A page of something that is not there: what it says, and a link back to the list. */
export function missing(title: string, says: ComponentChildren, back: Link): View {
  return {
    title,
    status: 404,
    body: (
      <>
        {says}
        <LinkLine {...back} />
      </>
    ),
  };
}
