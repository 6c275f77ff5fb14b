"""Places: names of countries and large cities, which in a heading tell that its text holds for that place alone.

In running text a place is known by its capital letter; headings have many capitals and Chinese has none.
"""

from __future__ import annotations

from typing import Final

_HAN: Final = """
北京 上海 天津 重庆 广州 深圳 杭州 南京 苏州 成都 武汉 西安 长沙 郑州 青岛 大连 厦门 福州 合肥 济南
沈阳 长春 哈尔滨 昆明 贵阳 南宁 海口 太原 石家庄 兰州 西宁 银川 乌鲁木齐 拉萨 呼和浩特 南昌 宁波
无锡 东莞 佛山 珠海 香港 澳门 台北 台湾 广东 浙江 江苏 四川 湖北 湖南 福建 山东 河北 河南
中国 美国 英国 日本 韩国 新加坡 德国 法国 印度 加拿大 澳大利亚 欧洲 欧盟
"""
_LATIN: Final = """
europe asia africa america emea apac usa us uk eu china japan korea singapore india germany france spain italy portugal
netherlands belgium austria switzerland poland sweden norway denmark finland ireland canada mexico brazil argentina
australia israel turkey russia ukraine egypt nigeria kenya vietnam thailand indonesia malaysia philippines taiwan
beijing shanghai shenzhen guangzhou hangzhou tokyo osaka seoul mumbai delhi bangalore bengaluru london manchester
edinburgh dublin paris lyon berlin munich hamburg frankfurt cologne vienna zurich geneva madrid barcelona lisbon porto
rome milan amsterdam brussels stockholm oslo copenhagen helsinki warsaw prague budapest athens istanbul dubai cairo
nairobi lagos sydney melbourne toronto vancouver montreal boston chicago washington seattle austin dallas houston
denver atlanta miami philadelphia phoenix portland detroit
"""
HAN_PLACES: Final = frozenset(_HAN.split())
PLACES: Final = HAN_PLACES | frozenset(_LATIN.split())
