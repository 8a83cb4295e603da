import path from "node:path";
import ts from "typescript";

/** What the type checker knows about the language: which values belong to it, which of these are conditions, and which methods they have. */
export class Language {
  readonly checker: ts.TypeChecker;
  readonly #folder: string;
  readonly #conditions: ts.Type[];

  /** @param sources the folder of this package's sources, which declare the language */
  constructor(
    private readonly program: ts.Program,
    sources: string,
  ) {
    this.checker = program.getTypeChecker();
    this.#folder = `${path.join(sources, "dsl").replaceAll("\\", "/")}/`;
    const file = program.getSourceFile(`${this.#folder}condition.ts`);
    const module = file && this.checker.getSymbolAtLocation(file);
    const exported = module ? this.checker.getExportsOfModule(module) : [];
    this.#conditions = exported
      .filter(({ name }) => name === "Condition" || name === "PropertyCondition")
      .map((symbol) => this.checker.getDeclaredTypeOfSymbol(symbol));
  }

  typeOf(node: ts.Node): ts.Type {
    return this.checker.getTypeAtLocation(node);
  }

  /** Whether a type is certainly that of a value of the language, such as an event or a trait; a type that includes undefined is not. */
  isOwn(type: ts.Type): boolean {
    const isObject = (type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)) !== 0;
    return isObject && type.getProperties().some((property) => this.isDeclaredHere(property));
  }

  isDeclaredHere({ declarations = [] }: ts.Symbol): boolean {
    return declarations.some((declaration) => declaration.getSourceFile().fileName.startsWith(this.#folder));
  }

  /** Whether a name is declared by JavaScript itself. */
  isBuiltIn(name: ts.Node): boolean {
    const { declarations = [] } = this.checker.getSymbolAtLocation(name) ?? {};
    return declarations.some((declaration) => this.program.isSourceFileDefaultLibrary(declaration.getSourceFile()));
  }

  /** Whether a type is that of a condition on a customer or on the properties of an event. */
  isCondition(type: ts.Type): boolean {
    return this.isOwn(type) && this.#conditions.some((condition) => this.checker.isTypeAssignableTo(type, condition));
  }

  /** The methods of a value of the language, without the author's declared members and those that only the compiler reads, whose names are symbols. */
  methodsOf(type: ts.Type): string[] {
    const own = this.checker.getPropertiesOfType(type).filter((property) => this.isDeclaredHere(property));
    return own.flatMap(({ name }) => (name.startsWith("__@") ? [] : [name]));
  }

  /** Whether a method can be called with arguments of these types. */
  accepts(type: ts.Type, method: string, values: readonly ts.Type[]): boolean {
    const symbol = this.checker.getPropertyOfType(type, method);
    const [signature] = symbol ? this.checker.getTypeOfSymbol(symbol).getCallSignatures() : [];
    if (!signature || signature.typeParameters) return false;
    const { parameters } = signature;
    return (
      parameters.length === values.length &&
      values.every((value, index) =>
        this.checker.isTypeAssignableTo(value, this.checker.getTypeOfSymbol(parameters[index]!)),
      )
    );
  }

  /** Whether a name of the language can be written at a place: it has its meaning there, or none yet. */
  isFree(name: string, place: ts.Node): boolean {
    const found = this.checker.getSymbolsInScope(place, ts.SymbolFlags.Value | ts.SymbolFlags.Alias);
    const symbol = found.find((one) => one.name === name);
    if (!symbol) return true;
    const isAlias = (symbol.flags & ts.SymbolFlags.Alias) !== 0;
    return this.isDeclaredHere(isAlias ? this.checker.getAliasedSymbol(symbol) : symbol);
  }
}
