/** A member that is in the snapshot only where it is true; what is no boolean is carried on, for the validation to report. */
export function flag<Name extends string>(name: Name, value: boolean | undefined): { [Key in Name]?: true } {
  return (value === undefined || (value as unknown) === false ? {} : { [name]: value }) as { [Key in Name]?: true };
}
