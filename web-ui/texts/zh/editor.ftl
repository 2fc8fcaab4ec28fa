### 计划编辑器的中文文本：元素树、表单、工具栏、文本。英文文本在 ../en/editor.ftl，标识符和参数相同。

## 服务器的响应

server-status = 服务器返回状态码 { $status }。
server-reply-not-json = 服务器的响应不是 JSON。
server-no-reply = 服务器没有响应。
server-reply-incomplete = 服务器的响应缺少 `problems`。
check-failed = 无法检查文本。{ $reason }
change-unchecked = 修改未生效，因为无法检查文本。{ $reason }
change-unreadable = 文本有错误，无法修改元素。请先改正文本。
change-mismatch = 服务器的响应与文本不符。没有任何修改。
change-failed = 由于本页面出错，修改未生效。请重新加载页面。

## 元素树

tree-label = 计划的元素
tree-outdated = 文本有错误；元素树显示的是最近一个可解析的版本。
tree-empty = 文本有错误。改正后即可看到计划的元素。
tree-disabled-element = 已禁用
tree-keys = Enter 编辑元素。空格选择多个，Ctrl+A 先选择同级元素，再选择全部元素。Ctrl+C、Ctrl+X 和 Ctrl+V 复制、剪切和粘贴。Ctrl+F 搜索文本。

## 命令

toolbar-label = 元素命令
toolbar-add = 添加…
toolbar-button = { $label }（{ $key }）
command-add = 添加
command-duplicate = 创建副本
command-move-up = 上移
command-move-down = 下移
command-disable = 禁用
command-enable = 启用
command-enable-or-disable = 启用或禁用
command-remove = 删除
command-move = 移动
command-paste = 粘贴
command-undo = 撤销
command-redo = 重做

## 命令的结果，供屏幕阅读器使用

status-done = { $command }：{ $count } 个元素
status-copied = 已复制 { $count } 个元素
status-cut = 已剪切 { $count } 个元素；粘贴即可移动
status-not-copyable = 该元素不能复制或剪切。
status-clipboard-empty = 没有可粘贴的内容。请先复制或剪切元素。
status-not-pasted = 这些元素不能粘贴到此处。
status-not-moved = 该元素不能继续移动。
status-not-duplicated = 该元素不能创建副本。
status-not-removed = 该元素不能删除。
status-not-disabled = 该元素不能禁用。
status-undone = 已撤销
status-redone = 已重做
status-nothing-to-undo = 没有可撤销的操作
status-nothing-to-redo = 没有可重做的操作

## 元素种类菜单

add-label = 添加元素
add-filter = 筛选元素种类
add-impossible = 此处不能添加元素。
add-no-match = 没有匹配的种类。

## 表单

form-label = 元素的设置
form-selection = 已选择 { $count } 个元素。元素树上方的命令对所选元素全部生效。
form-empty = 该元素没有设置。
form-further-settings = 其他 { $count } 项设置
form-filter = 筛选设置
form-no-match = 没有匹配的设置。
setting-required = 必填
setting-default = 默认值：{ $value }
setting-unset = （未设置）
setting-unset-default = （未设置；默认值：{ $value }）
setting-format-list = 每行一个值
setting-format-pairs = 每行一个，格式为 name: value
setting-format-yaml = YAML
setting-remove = 删除 { $name }
setting-more = 展开
setting-less = 收起
setting-truncated = 该值过长，表单无法完整显示。以下是其开头部分。
setting-edit-in-text = 在文本中编辑

## 随时间变化的负载

load-title = 负载
load-curve-title = { $name }，{ $unit }
load-curve = { $unit }，时长 { $duration }：{ $low } 至 { $high }
load-curve-of = { $name }：{ $unit }，时长 { $duration }：{ $low } 至 { $high }

## 文本

text-label = 计划
text-keys = Tab 缩进。用键盘离开编辑器：先按 Esc，再按 Tab。Ctrl-空格补全，Ctrl-F 搜索。
search-find = 查找
search-replace-with = 替换为
search-next = 下一个
search-previous = 上一个
search-all = 全选
search-match-case = 区分大小写
search-regexp = 正则表达式
search-by-word = 全字匹配
search-replace = 替换
search-replace-all = 全部替换
search-close = 关闭
search-current-match = 当前匹配
search-on-line = 所在行
search-replaced-match = 已替换第 $ 行的匹配
search-replaced-matches = 已替换 $ 处匹配
text-go-to-line = 转到行
text-go = 转到
text-selection-deleted = 已删除所选内容
text-completions = 补全
text-problems = 问题
text-no-problems = 没有问题
