export type { BatchView as BatchInfo, CallbackView as BatchCallbackInfo } from '@holdfast/database';
