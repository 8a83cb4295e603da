import type { VNode } from "preact";
import type { CreatedProject } from "../../http/admin/answers.js";
import { printable } from "../../words/text.js";
import { LinkLine } from "../parts.js";
import { Secret } from "../pages/settings/parts.js";

/** The fields of the form. */
export const PROJECT_FIELDS = ["name", "slug"] as const;

/** A form that creates the first project. */
export function NewProject({ action, token }: { action: string; token: VNode }) {
  return (
    <form method="post" action={action}>
      {token}
      <label for="name">Name of the project</label>
      <input id="name" name="name" required maxLength={256} autocomplete="off" />
      <label for="slug">Short name for addresses and commands</label>
      <input
        id="slug"
        name="slug"
        required
        pattern="[a-z0-9][a-z0-9\-]{0,62}"
        autocomplete="off"
        aria-describedby="slug-hint"
      />
      <p class="hint" id="slug-hint">
        Up to 63 lower-case letters, digits and hyphens, such as <code>shop</code>. It cannot be changed later.
      </p>
      <button>Create the project</button>
    </form>
  );
}

/** The keys of a new project, which are shown only once, and a link to it. @param href its first page */
export function projectMade({ project, keys }: CreatedProject, href: string): { title: string; body: VNode } {
  return {
    title: `Project ${printable(project.name)}`,
    body: (
      <>
        <p class="note" role="status">
          Copy the API keys before you leave this page: they are not shown again.
        </p>
        <Secret id="test" label="API key for test" value={keys.test} />
        <Secret id="live" label="API key for live" value={keys.live} />
        <LinkLine href={href} text="Go to the project" />
      </>
    ),
  };
}
