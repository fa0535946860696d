/** The forms that the name of an input may have. Each that is no path is one row. */

interface InputForm {
  readonly begins: RegExp
  /** Whether it names an object on a server: its name may hold secrets. */
  readonly isObject: boolean
  /** Whether each worker of a job can open it by its name. */
  readonly isShared: boolean
  /** Why it cannot be followed. */
  readonly unfollowed: string
}

const ON_SERVER = 'cannot follow an input on a server'

const forms = {
  web: {
    begins: /^https?:\/\//i,
    isObject: true,
    isShared: true,
    unfollowed: ON_SERVER,
  },
  s3: {
    begins: /^s3:\/\//i,
    isObject: true,
    isShared: true,
    unfollowed: ON_SERVER,
  },
  servicenow: {
    begins: /^servicenow:/,
    isObject: false,
    isShared: false,
    unfollowed: 'cannot follow a table. Run the load at intervals. Later runs read only changes',
  },
} as const satisfies Readonly<Record<string, InputForm>>

type FormName = keyof typeof forms

export const inputForms: Readonly<Record<FormName, InputForm>> = forms

const formNames = Object.keys(forms) as FormName[]

/** Returns undefined for a path, and for stdin. */
export function formOf(name: string): FormName | undefined {
  return formNames.find(form => forms[form].begins.test(name))
}

/** Returns whether a name is that of a file or a glob. A relative one depends on the working folder. */
export function isPath(name: string): boolean {
  return name !== '-' && formOf(name) === undefined
}
