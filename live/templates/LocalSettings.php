
# --- what a wiki on loopback, read by programs only, wants otherwise ---
$wgServer = '@BASE@';
$wgArticlePath = '/wiki/$1';
$wgUsePathInfo = true;
$wgDefaultSkin = 'vector-2022';
$wgCacheDirectory = '@STATE@/cache';
$wgUploadDirectory = '@STATE@/images';
$wgMainCacheType = CACHE_NONE;
$wgParserCacheType = CACHE_NONE;
$wgMessageCacheType = CACHE_NONE;
$wgSessionCacheType = CACHE_DB;
$wgJobRunRate = 0;
$wgEnableEmail = false;
$wgPingback = false;
$wgGroupPermissions['*']['edit'] = false;
$wgGroupPermissions['*']['createaccount'] = false;
