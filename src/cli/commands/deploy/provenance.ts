/** Where a deploy came from; members that are unknown are absent. */
export interface Provenance {
  repository?: string;
  commit?: string;
  ref?: string;
  workflow?: string;
  run?: string;
}

/** The variables of GitHub Actions and of GitLab CI, in the order of the members above. */
const VARIABLES: readonly { present: string; names: Readonly<Record<keyof Provenance, string>> }[] = [
  {
    present: "GITHUB_ACTIONS",
    names: {
      repository: "GITHUB_REPOSITORY",
      commit: "GITHUB_SHA",
      ref: "GITHUB_REF",
      workflow: "GITHUB_WORKFLOW",
      run: "GITHUB_RUN_ID",
    },
  },
  {
    present: "GITLAB_CI",
    names: {
      repository: "CI_PROJECT_PATH",
      commit: "CI_COMMIT_SHA",
      ref: "CI_COMMIT_REF_NAME",
      workflow: "CI_JOB_NAME",
      run: "CI_PIPELINE_ID",
    },
  },
];

/** What the CI system says of the run that deploys; undefined outside of one. */
export function provenance(env: Readonly<Record<string, string | undefined>>): Provenance | undefined {
  // A system that names itself wins; otherwise any of its variables will do, as when they were passed into a container.
  const system =
    VARIABLES.find(({ present }) => env[present]) ??
    VARIABLES.find(({ names }) => Object.values(names).some((name) => env[name]));
  if (!system) return undefined;
  const found = Object.entries(system.names).flatMap(([member, name]) => (env[name] ? [[member, env[name]]] : []));
  return found.length === 0 ? undefined : (Object.fromEntries(found) as Provenance);
}
