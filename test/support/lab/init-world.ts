/** What tests of `sluice init` share: its questions, and what only the lab needs. */
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Lab, type LabOptions, startLab } from '../../../src/lab/index.js'

export const start = async (register: NonNullable<LabOptions['register']> = 'both') => await startLab({ register })

/** What only the lab needs: the authority that signed its certificates, and where its administration is. */
export const trust = ({ line }: Lab, state: string): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  XDG_STATE_HOME: join(state, 'state'),
  SLUICE_CA: line.cluster.caFile,
  SLUICE_PROXY_CA: line.proxyCaFile,
  SLUICE_ADMIN_URL: line.admin.url,
  SLUICE_LOG_FORMAT: 'text',
})

export const proxy = 'URL of your static-IP proxy'
export const url = 'URL or cloud id'
export const ips = 'Your two static addresses'
export const key = 'API key in its encoded form'
export const index = 'Index to load into first'

export const files = async (path: string) =>
  (await readdir(path, { recursive: true })).filter(name => !name.startsWith('state')).sort()
export const written = ['.sluice', '.sluice/.gitignore', '.sluice/api-key', '.sluice/proxy-url', 'sluice.config.json']
export const modeOf = async (path: string) => (await lstat(path)).mode & 0o777
