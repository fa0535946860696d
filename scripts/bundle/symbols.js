// Node 20 and 22 give the main context alone these symbols. A test runner such as Jest loads modules in a context of its own, where they are missing.
const { dispose = Symbol.for('nodejs.dispose'), asyncDispose = Symbol.for('nodejs.asyncDispose') } =
  /** @type {Partial<SymbolConstructor>} */ (Symbol)

export { asyncDispose, dispose }
