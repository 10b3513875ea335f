import { resultStorageSuite } from '../../support/service-suites/result-storage-suite.ts';

resultStorageSuite('postgres');
