import { rootCauseAnalysesSuite } from '../../support/service-suites/root-cause-analyses-suite.ts';
import { rootCauseModelSuite } from '../../support/service-suites/root-cause-model-suite.ts';

rootCauseAnalysesSuite('postgres');
rootCauseModelSuite('postgres');
