import type { AuditEntry } from "../../http/admin/answers.js";
import { detailsInWords } from "../../words/text.js";
import { queryParams, type ConsolePage, queryParam, hasAnyParam, expectedRefusal } from "../console-page.js";
import { ApiError } from "../../http/errors.js";
import { address, At, Empty, PageLinks, ProblemNote, Text, TextLink } from "../parts.js";
import { InputField } from "../forms.js";
import { type TableColumn, Table } from "../tables.js";

const PATH = "audit-log";

const FIELDS = [
  { name: "actor", label: "By", placeholder: "ada@example.com" },
  { name: "action", label: "Action", placeholder: "member.removed" },
  { name: "since", label: "Since", placeholder: "7d" },
] as const;
const FILTERS = FIELDS.map(({ name }) => name);

/** Who changed what in the organization. */
export const auditLogPage: ConsolePage = {
  path: PATH,
  inService: true,
  async answer({ ask, query, may }) {
    const title = "Audit log";
    if (!may("list_audit_log")) {
      return { title, status: 403, body: <p class="note">Only administrators and owners can see who changed what.</p> };
    }
    const filters = queryParams(query, FILTERS);
    const cursor = queryParam(query, "cursor");
    const found = await ask("/organization/audit-log", { ...filters, limit: "50", cursor }).catch(expectedRefusal);
    const isFiltered = hasAnyParam(query, FILTERS);
    return {
      title,
      ...(found instanceof ApiError && { status: found.status }),
      body: (
        <>
          <form class="filters" action={PATH} method="get">
            {FIELDS.map(({ name, label, placeholder }) => (
              <InputField label={label} name={name} query={query} placeholder={placeholder} key={name} />
            ))}
            <button>Show</button>
            {isFiltered ? <a href={PATH}>All entries</a> : null}
          </form>
          {found instanceof ApiError ? (
            <ProblemNote error={found} />
          ) : (
            <>
              {found.data.length === 0 && !query.has("cursor") ? (
                <Empty>{isFiltered ? "No entries match these filters." : "Nothing has been changed yet."}</Empty>
              ) : (
                <Table name="Audit log" rows={found.data} columns={COLUMNS} />
              )}
              <PageLinks path={PATH} query={query} next={found.nextCursor} />
            </>
          )}
        </>
      ),
    };
  },
};

const COLUMNS: TableColumn<AuditEntry>[] = [
  ["At", ({ at }) => <At iso={at} />],
  ["Action", ({ action }) => <a href={address(PATH, { action })}>{action}</a>],
  ["By", ({ actor }) => <TextLink href={address(PATH, { actor })} text={actor} />],
  ["Where", (e) => <Text>{[e.project, e.environment].filter((part) => part !== null).join(" ")}</Text>],
  [
    "What",
    ({ target, details }) => (
      <>
        <Text>{target ?? ""}</Text>{" "}
        <span class="faint">
          <Text>{detailsInWords(details)}</Text>
        </span>
      </>
    ),
  ],
];
