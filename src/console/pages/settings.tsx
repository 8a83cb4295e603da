import { type ConsolePage, type Visit } from "../console-page.js";
import { Section, Text } from "../parts.js";
import { FactList } from "../tables.js";
import { Allowed, ChangeForm } from "../changes.js";
import { ROLE_TEXTS } from "./settings/parts.js";

const PATH = "settings";

/** Who may do what, and how the organization is set up. */
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
  ["keys", "API keys", "what sends events to this environment"],
  ["tokens", "Access tokens", "what acts for the organization without a person"],
  ["operations", "Operations", "whether all is well, and what is used of the plan"],
  ["audit-log", "Audit log", "what was changed, by whom"],
] as const;

function TimeZone({ visit }: { visit: Visit }) {
  const { timeZone } = visit.look;
  return (
    <Section id="time-zone" title="Time zone">
      <p>
        <strong>{timeZone}</strong>: days of trends begin at midnight there, and instants on these pages are told in it.
      </p>
      <Allowed visit={visit} operation="update_organization" what="change it" who="an administrator">
        <ChangeForm visit={visit} path={PATH}>
          <label for="timeZone">Another time zone</label>
          <input
            id="timeZone"
            name="timeZone"
            value={timeZone}
            list="timeZones"
            required
            maxLength={64}
            aria-describedby="timeZone-hint"
          />
          <datalist id="timeZones">
            {Intl.supportedValuesOf("timeZone").map((name) => (
              <option value={name} key={name} />
            ))}
          </datalist>
          <p class="hint" id="timeZone-hint">
            A name such as Europe/Berlin. What was logged is counted anew by its days within minutes; active customers,
            operations and deliveries stay in the days in which they were counted.
          </p>
          <p>
            <button>Change the time zone</button>
          </p>
        </ChangeForm>
      </Allowed>
    </Section>
  );
}
