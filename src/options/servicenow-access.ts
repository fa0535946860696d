import { invalid } from './option-checks.js'
import { readTrimmed } from './cluster-access.js'
import type { Effective } from './resolve.js'
import type { OptionName } from './table.js'

/** Credentials for ServiceNow: the contents of the files that options name. */
export interface ServiceNowAccess {
  readonly url: string
  readonly username?: string
  readonly password?: string
  readonly clientId?: string
  readonly clientSecret?: string
  readonly refreshToken?: string
  /** PEM. */
  readonly ca?: string
}

type FileOption = Extract<OptionName, `servicenow${string}File` | 'servicenowCa'>

/**
 * Reads the files that options name. Throws SluiceError OPTION_INVALID, also if no instance is set. Errors never
 * contain the contents of a file.
 */
export async function readServiceNowAccess(
  { values, origins }: Effective,
  readFile: (path: string) => Promise<string>,
): Promise<ServiceNowAccess> {
  const url = values.servicenowUrl
  if (url === undefined)
    throw invalid('--servicenow-url', 'the ServiceNow instance is not set: set SERVICENOW_INSTANCE_URL')
  const read = async (name: FileOption) => {
    const path = values[name]
    return path === undefined ? undefined : await readTrimmed(path, origins[name], readFile)
  }
  const given = {
    username: values.servicenowUsername,
    password: values.servicenowPassword ?? (await read('servicenowPasswordFile')),
    clientId: values.servicenowClientId,
    clientSecret: values.servicenowClientSecret ?? (await read('servicenowClientSecretFile')),
    refreshToken: values.servicenowRefreshToken ?? (await read('servicenowRefreshTokenFile')),
    ca: await read('servicenowCa'),
  }
  return { url, ...present(given) }
}

type Present<T> = { [K in keyof T]?: NonNullable<T[K]> }

function present<T extends object>(values: T): Present<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Present<T>
}

/** Credentials of the alarm's own, and the instance that they are for. */
export interface AlarmAccess {
  /** Absent: the instance of all other options. */
  readonly url?: string
  readonly username?: string
  readonly password?: string
  readonly clientId?: string
  readonly clientSecret?: string
  /** PEM. */
  readonly ca?: string
}

/** Whether the alarm has none of its own: then it uses those of the platform. */
export function sharesAccess({ values }: Effective): boolean {
  return values.alarmUsername === undefined && values.alarmClientId === undefined
}

/**
 * Returns the alarm's own credentials. Undefined if there are none: Sluice never mixes them with others. Throws
 * SluiceError OPTION_INVALID.
 */
export async function readAlarmAccess(
  effective: Effective,
  readFile: (path: string) => Promise<string>,
): Promise<AlarmAccess | undefined> {
  if (sharesAccess(effective)) return undefined
  const { values, origins } = effective
  const read = async (name: 'alarmPasswordFile' | 'alarmClientSecretFile' | 'servicenowCa') => {
    const path = values[name]
    return path === undefined ? undefined : await readTrimmed(path, origins[name], readFile)
  }
  const given = {
    url: values.alarmUrl,
    username: values.alarmUsername,
    password: values.alarmPassword ?? (await read('alarmPasswordFile')),
    clientId: values.alarmClientId,
    clientSecret: values.alarmClientSecret ?? (await read('alarmClientSecretFile')),
    ca: await read('servicenowCa'),
  }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}
