import type { VNode } from "preact";
import type { CreatedProject } from "../../http/admin/answers.js";
import { printable } from "../../words/text.js";
import { TextField } from "../changes.js";
import { LinkLine } from "../parts.js";
import { Secret } from "../pages/settings/parts.js";

/** The fields of the form. */
export const PROJECT_FIELDS = ["name", "slug"] as const;

/** A form that creates the first project. */
export function NewProject({ action, token }: { action: string; token: VNode }) {
  return (
    <form method="post" action={action}>
      {token}
      <TextField label="Name of the project" name="name" maxLength={256} />
      <TextField
        label="Short name for addresses and commands"
        name="slug"
        pattern="[a-z0-9][a-z0-9\-]{0,62}"
        hint={
          <>
            Up to 63 lower-case letters, digits and hyphens, such as <code>shop</code>. It cannot be changed later.
          </>
        }
      />
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
