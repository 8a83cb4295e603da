/** For people to read and for a shell to evaluate. */
export function credentialsInWords({
  organizationId,
  accessToken,
}: Record<"organizationId" | "accessToken", string>): string {
  return [
    "# The token is shown only now. These variables let svc use it:",
    `export SVC_ORGANIZATION=${organizationId}`,
    `export SVC_ACCESS_TOKEN=${accessToken}`,
    "",
  ].join("\n");
}
