import type { ComponentChildren } from "preact";

/** A link of the frame; the one that leads to where one is is marked. */
export interface Choice {
  text: string;
  href: string;
  isHere: boolean;
}

/** What stands around every page of the console. */
export interface Frame {
  /** Above: the organization, project and environment, each with its alternatives. */
  places: readonly { label: string; choices: readonly Choice[] }[];
  /** Whether what is shown is of real customers. */
  isLive: boolean;
  /** The pages. */
  sections: readonly Choice[];
  /** Who looks, and how to leave; a clock where there is one to be moved. */
  aside: ComponentChildren;
  documentation: string | null;
  /** A script of this server; none unless given. */
  script?: string;
}

/** A page in its frame: where one is above, the other pages beside it. */
export function Framed({ frame, title, children }: { frame: Frame; title: string; children: ComponentChildren }) {
  const { places, isLive, sections, aside, documentation } = frame;
  return (
    <>
      <header class="top">
        <a class="brand" href={sections[0]?.href ?? "./"}>
          svc
        </a>
        {places.map(({ label, choices }) => (
          <nav aria-label={label} key={label}>
            <ul>
              {choices.map(({ text, href, isHere }) => (
                <li key={href}>
                  <a
                    href={href}
                    class={isHere && isLive && text === "live" ? "live" : undefined}
                    aria-current={isHere ? "true" : undefined}
                  >
                    <bdi>{text}</bdi>
                  </a>
                </li>
              ))}
            </ul>
          </nav>
        ))}
        <div class="account">
          {documentation === null ? null : <a href={documentation}>Documentation</a>}
          {aside}
        </div>
      </header>
      <div class="columns">
        <nav class="side" aria-label="Console">
          <ul>
            {sections.map(({ text, href, isHere }) => (
              <li key={href}>
                <a href={href} aria-current={isHere ? "page" : undefined}>
                  {text}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <main id="main">
          <h1>{title}</h1>
          {children}
        </main>
      </div>
    </>
  );
}
