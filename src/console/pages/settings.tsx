import { type ConsolePage, type Visit } from "../console-page.js";
import { Section, Text } from "../parts.js";
import { FactList } from "../tables.js";
import { Allowed, ChangeForm, TextField } from "../changes.js";
import { ROLE_TEXTS } from "./settings/parts.js";

const PATH = "settings";

/** The organization's settings: links to members, keys and tokens, and the time zone. */
export const settingsPage: ConsolePage = {
  path: PATH,
  section: "Settings",
  inService: true,
  async answer(visit) {
    const { user, organization } = await visit.ask("/whoami");
    return {
      title: "Settings",
      body: (
        <>
          <FactList
            of={{
              Organization: <Text>{organization.slug}</Text>,
              Id: <Text>{organization.id}</Text>,
              You: <Text>{user.email}</Text>,
              "Your role": ROLE_TEXTS[organization.role],
            }}
          />
          <ul>
            {PAGES.filter(([path]) => path !== "audit-log" || visit.may("list_audit_log")).map(([path, name, what]) => (
              <li key={path}>
                <a href={path}>{name}</a>: {what}
              </li>
            ))}
          </ul>
          <TimeZone visit={visit} />
        </>
      ),
    };
  },
  change: {
    fields: ["timeZone"],
    async make({ tell, form: { timeZone = "" } }) {
      await tell("PATCH /organization", {}, { timeZone });
      return PATH;
    },
  },
};

const PAGES = [
  ["members", "Members", "people, their roles, invitations"],
  ["keys", "API keys", "for sending events to this environment"],
  ["tokens", "Access tokens", "for programs that act for the organization"],
  ["operations", "Operations", "whether all is well, and usage of the plan"],
  ["audit-log", "Audit log", "who changed what"],
] as const;

function TimeZone({ visit }: { visit: Visit }) {
  const { timeZone } = visit.presentation;
  return (
    <Section id="time-zone" title="Time zone">
      <p>
        <strong>{timeZone}</strong>: days of trends begin at midnight there, and times on these pages are shown in it.
      </p>
      <Allowed visit={visit} operation="update_organization" what="change it" who="an administrator">
        <ChangeForm visit={visit} path={PATH}>
          <TextField
            label="New time zone"
            name="timeZone"
            value={timeZone}
            list="timeZones"
            maxLength={64}
            hint="A name such as Europe/Berlin. Logged changes are counted again by its days within minutes; active customers, operations and deliveries stay in the days in which they were counted."
          />
          <datalist id="timeZones">
            {Intl.supportedValuesOf("timeZone").map((name) => (
              <option value={name} key={name} />
            ))}
          </datalist>
          <p>
            <button>Change the time zone</button>
          </p>
        </ChangeForm>
      </Allowed>
    </Section>
  );
}
