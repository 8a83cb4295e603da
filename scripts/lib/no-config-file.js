// Replaces `cosmiconfig`, by which graphile-worker looks for a configuration in every folder above the working directory when it is loaded:
// a folder that the service's user may not enter, or a broken package.json there, would end each start. The service passes its options.
export function cosmiconfigSync() {
  return { search: () => null };
}
