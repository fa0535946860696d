import { describePromises } from '../contracts/promises.suite.js'
import { describeOnRealServers } from './on-real-servers.js'

for (const major of [9, 8] as const) describeOnRealServers({ major }, describePromises)
