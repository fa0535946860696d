export function filesWithOptions(files: readonly { readonly path: string; readonly text: string }[]): string[]
