import { type ConsolePage, given } from "../console-page.js";
import { address, Ago, At, Empty, Pages, Table, Text } from "../parts.js";
import type { Activation, ConfigVersion } from "../source.js";

const PATH = "model";
const LIMIT = "50";

/** What is deployed, by whom, and which version was active here when. */
export const modelPage: ConsolePage = {
  path: PATH,
  section: "Model",
  inService: true,
  async answer({ ask, query }) {
    const cursor = given(query, "cursor");
    const [versions, activations] = await Promise.all([
      ask("config-versions", { limit: LIMIT, cursor }),
      ask("activations", { limit: LIMIT }),
    ]);
    return {
      title: "Model",
      body: (
        <>
          {versions.data.length === 0 ? (
            <Empty>
              No version was deployed yet. <code>svc deploy</code> makes the first.
            </Empty>
          ) : (
            <Versions versions={versions.data} />
          )}
          <Pages path={PATH} query={query} next={versions.nextCursor} />
          {activations.data.length === 0 ? null : <Activations activations={activations.data} />}
        </>
      ),
    };
  },
};

export const versionHref = (version: string, more: Record<string, string> = {}) =>
  address("version", { id: version, ...more });

function Versions({ versions }: { versions: readonly ConfigVersion[] }) {
  return (
    <Table name="Versions" columns={["Version", "Active in", "Deployed", "By", "From"].map((heading) => ({ heading }))}>
      {versions.map(({ version, active, createdAt, author, provenance }) => (
        <tr key={version}>
          <td>
            <a href={versionHref(version)}>{version}</a>
          </td>
          <td>{active.join(", ")}</td>
          <td>
            <Ago iso={createdAt} />
          </td>
          <td>
            <Text>{author}</Text>
          </td>
          <td>
            <Text>{sourceOf(provenance)}</Text>
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** The commit that a version was deployed from; empty where nobody said. */
export function sourceOf(provenance: ConfigVersion["provenance"]): string {
  const { commit, ref } = provenance ?? {};
  return [ref, commit?.slice(0, 12)].filter(Boolean).join(" ");
}

const KINDS: Readonly<Record<Activation["kind"], string>> = {
  deploy: "deployed",
  promote: "promoted",
  rollback: "rolled back to",
};

function Activations({ activations }: { activations: readonly Activation[] }) {
  return (
    <section aria-labelledby="activations">
      <h2 id="activations">Active here</h2>
      <ul>
        {activations.map(({ version, previousVersion, kind, actor, at }) => (
          <li key={at}>
            <At iso={at} />: {KINDS[kind]}{" "}
            <a href={versionHref(version, previousVersion === null ? {} : { from: previousVersion })}>{version}</a>
            {previousVersion === null ? null : <>, after {previousVersion},</>} by <Text>{actor}</Text>
          </li>
        ))}
      </ul>
    </section>
  );
}
